// `npm run proof -- conformance`: runs the official suite of the Model Context Protocol against the extension `mcp`.
import { parseArgs } from 'node:util';
import { listScenarios, optional, type Scenario } from './conformance/list-scenarios.ts';
import { runScenario } from './conformance/run-scenario.ts';

const help = `Usage: npm run proof -- conformance [--list] [--verbose] [SCENARIO…]

Runs the scenarios that the official suite of the Model Context Protocol requires of a client: all of revision
2026-07-28, and those of revision 2025-11-25 about questions to a person. The client is an agent with the extension mcp.
The last line is "N of M scenarios". Exits with 1 if a scenario failed.

  --list      list the scenarios
  --verbose   print the report of each scenario; the report of a failed scenario is always printed

Examples:
  npm run proof -- conformance
  npm run proof -- conformance auth/scope-step-up --verbose
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = { help: { type: 'boolean' }, list: { type: 'boolean' }, verbose: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help === true) return print(help);
  const all = await listScenarios();
  if (values.list === true) {
    const required = all.map(({ name, revision }) => `${name}  ${revision}\n`);
    return print([...required, ...optional.map(({ name }) => `${name}  not required\n`)].join(''));
  }
  const known = [...all, ...optional];
  const unknown = positionals.find((wanted) => !known.some(({ name }) => name === wanted));
  if (unknown !== undefined) {
    process.stderr.write(`There is no scenario "${unknown}". \`npm run proof -- conformance --list\` lists them.\n`);
    return 2;
  }
  const chosen = positionals.length === 0 ? all : known.filter(({ name }) => positionals.includes(name));
  return runAll(chosen, values.verbose === true);
}

async function runAll(scenarios: readonly Scenario[], isVerbose: boolean): Promise<number> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  let passed = 0;
  for (const [index, scenario] of scenarios.entries()) {
    const result = await runScenario(scenario, stopping.signal);
    if (stopping.signal.aborted) {
      process.stderr.write('Ended early.\n');
      return 130;
    }
    passed += result.passed ? 1 : 0;
    const outcome = result.passed ? 'passed' : 'FAILED';
    print(`${index + 1}/${scenarios.length} ${outcome} ${scenario.name} (${result.seconds.toFixed(1)} s)\n`);
    if (isVerbose || !result.passed) print(`${result.report.trimEnd().replaceAll(/^/gm, '    ')}\n`);
  }
  print(`${passed} of ${scenarios.length} scenarios\n`);
  return passed === scenarios.length ? 0 : 1;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
