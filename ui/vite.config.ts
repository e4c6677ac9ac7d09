import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The build is committed under the server's package; `script/ui --check` proves that it is this source's.
export default defineConfig({
  plugins: [react()],
  base: "/",
  define: { SITE: "false" },
  // The page may lie below a path that only the browser knows. What a script loads lies beside it; of index.html the
  // server writes the addresses (server/pages.py).
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === "html" ? undefined : { relative: true }) },
  build: {
    outDir: "../src/benchbook/server/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // a data: address would need an exception in the content security policy
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": "http://127.0.0.1:8400" } },
  test: { include: ["src/**/*.test.ts"] },
});
