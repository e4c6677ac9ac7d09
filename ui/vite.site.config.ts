import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The page that `benchbook site` writes: one script and one style sheet, which a browser also takes from a folder.
export default defineConfig({
  plugins: [react()],
  base: "./",
  define: { SITE: "true" },
  publicDir: false,
  build: {
    outDir: "../src/benchbook/server/static/site",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000, // kB: it is one script on purpose
    modulePreload: false,
    rolldownOptions: {
      transform: { define: { "import.meta": "{}" } }, // a plain script has none
      input: "src/main.tsx",
      output: { format: "iife", codeSplitting: false, entryFileNames: "page.js", assetFileNames: "page[extname]" },
    },
  },
});
