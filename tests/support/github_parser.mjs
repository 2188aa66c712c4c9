// Reads workflows with GitHub's own parser (npm @actions/workflow-parser) and prints what it finds, as JSON.
//   node github_parser.mjs FOLDER-WITH-NODE_MODULES WORKFLOW...
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// The package imports JSON without saying so, which newer versions of Node refuse.
register(
  "data:text/javascript," +
    encodeURIComponent(`
      import { readFileSync } from "node:fs";
      export async function load(url, context, next) {
        if (!url.endsWith(".json")) return next(url, context);
        const source = "export default " + readFileSync(new URL(url), "utf8");
        return { format: "module", shortCircuit: true, source };
      }`),
);

const [folder, ...files] = process.argv.slice(2);
const entry = join(folder, "node_modules", "@actions", "workflow-parser", "dist", "index.js");
const parser = await import(pathToFileURL(entry));

const results = {};
for (const file of files) {
  const content = readFileSync(file, "utf8");
  const read = parser.parseWorkflow({ name: file, content }, new parser.NoOperationTraceWriter());
  const errors = read.context.errors.getErrors().map((error) => error.message);
  const template = read.value ? await parser.convertWorkflowTemplate(read.context, read.value) : { jobs: [] };
  results[file] = {
    errors: [...errors, ...(template.errors ?? []).map((error) => error.Message ?? String(error))],
    events: Object.keys(template.events ?? {}),
    jobs: Object.fromEntries(template.jobs.map((job) => [job.id, (job.steps ?? []).length])),
  };
}
console.log(JSON.stringify(results));
