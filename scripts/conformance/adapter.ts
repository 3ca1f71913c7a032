/**
 * The client that the official suite starts, with the address of its server as the last argument. It is not a client of its
 * own: it serves a bundle with the extension `mcp`, sends input to its agent, plays the person at the browser when the agent
 * needs a sign-in, and answers questions. Everything goes through doors that users have: `gdn run`, `gdn send`, `gdn mcp
 * login` and the control socket.
 */
import type { JsonObject } from '@goondan/types';
import { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import { planScenario, type ScenarioPlan, SERVER, writeBundle } from './scenario-bundle.ts';
import { visitAsPerson } from './stand-in-browser.ts';
import { withPerson } from './stand-in-person.ts';

/** The maximum number of sign-ins of a person who answers every request to sign in. */
const MOST_SIGN_INS = 5;

/** The maximum time of a scenario. It is shorter than that of the suite, so that this process can clean up. */
const LONGEST_MS = 45_000;

const url = process.argv.at(-1) ?? '';
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: given = '{}' } = process.env;
// The suite ends this process through a shell, which does not pass a signal on. But standard input ends with the suite.
process.stdin.resume().on('end', () => void leave(130));
process.on('SIGTERM', () => void leave(143)).on('SIGINT', () => void leave(130));
setTimeout(() => void leave(1), LONGEST_MS).unref();

const place = new GdnPlace();
const plan = planScenario(scenario, JSON.parse(given) as JsonObject);
let hasLeft = false;
try {
  await leave(await runScenario(plan));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  await leave(1);
}

/** Runs the calls one after the other. Returns the exit code. */
async function runScenario({ calls, environment }: ScenarioPlan): Promise<number> {
  await place.write('bundle', { 'goondan.yaml': writeBundle(url, plan) });
  await place.serveWith({ env: environment }, 'bundle');
  const inputs = calls.length === 0 ? ['hello'] : calls.map((_, index) => `call ${index}`);
  let signIns = 0;
  let failed = 0;
  for (let index = 0; index < inputs.length;) {
    const answer = await send(inputs[index] ?? '');
    process.stdout.write(`${inputs[index]}: ${answer}\n`);
    if (answer.includes('E_MCP_SIGN_IN') && signIns < MOST_SIGN_INS) {
      signIns += 1;
      if (!(await signIn(environment))) return 1;
      continue;
    }
    failed += /\bE_[A-Z_]+\b/.test(answer) ? 1 : 0;
    index += 1;
  }
  return failed === 0 ? 0 : 1;
}

/** Sends an input, and returns the answer or the error of its turn. */
async function send(input: string): Promise<string> {
  const args = ['send', '--bundle', 'bundle', '--agent', 'client', '--input', input, '--wait', '--json'];
  const { stdout, stderr } = await withPerson(place.stateRoot, () => place.run(...args));
  return `${stdout}${stderr}`.trim();
}

/** Signs in with the command. The person opens the address that the command prints. */
async function signIn(environment: Readonly<Record<string, string>>): Promise<boolean> {
  const command = place.startWith({ env: environment }, 'mcp', 'login', SERVER, '--bundle', 'bundle', '--trust');
  const printed = await visitAsPerson(command);
  process.stdout.write(printed);
  return (await command.exited) === 0;
}

async function leave(code: number): Promise<void> {
  if (hasLeft) return;
  hasLeft = true;
  await place.remove();
  process.exit(code);
}
