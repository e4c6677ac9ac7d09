// Holds a bundle against the roots of trust in a trust configuration, by Sigstore's library for JavaScript: prints who signed.
const fs = require('node:fs');
const { createRequire } = require('node:module');

const [modules, trust, bundle, identity, issuer] = process.argv.slice(2);
const peers = createRequire(`${modules}/`);
const { Verifier, toSignedEntity, toTrustMaterial } = peers('@sigstore/verify');
const { bundleFromJSON } = peers('@sigstore/bundle');
const { TrustedRoot } = peers('@sigstore/protobuf-specs');

const read = (name) => JSON.parse(fs.readFileSync(name, 'utf8'));
const verifier = new Verifier(toTrustMaterial(TrustedRoot.fromJSON(read(trust).trustedRoot)));
const policy = { subjectAlternativeName: identity, extensions: { issuer } };
try {
  const signer = verifier.verify(toSignedEntity(bundleFromJSON(read(bundle))), policy);
  console.log(signer.identity.subjectAlternativeName);
} catch (error) {
  console.log(error.code);
}
