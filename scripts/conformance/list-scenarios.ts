/**
 * The scenarios of the official suite that a client must pass: those that the suite itself lists as required for
 * revision 2026-07-28, and the scenarios of revision 2025-11-25 about questions to a person.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Scenario {
  readonly name: string;
  readonly revision: '2025-11-25' | '2026-07-28';
}

/** Scenarios of extensions of the protocol. No revision requires them, so they run only when they are named. */
export const optional: readonly Scenario[] = [
  { name: 'auth/client-credentials-basic', revision: '2026-07-28' },
  { name: 'auth/client-credentials-jwt', revision: '2026-07-28' },
];

/** The folder of the package of the suite. */
export const suiteFolder = dirname(
  dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))),
);

/** Lists the scenarios in the order of the suite. */
export async function listScenarios(): Promise<readonly Scenario[]> {
  const newest = await readRequired('2026-07-28');
  const older = await readRequired('2025-11-25');
  return [...newest, ...older.filter(({ name }) => name.startsWith('elicitation'))];
}

async function readRequired(revision: Scenario['revision']): Promise<readonly Scenario[]> {
  const path = join(suiteFolder, 'requirements', `${revision}.yaml`);
  const file: unknown = Bun.YAML.parse(await Bun.file(path).text());
  const names: unknown = typeof file === 'object' && file !== null && 'client' in file ? file.client : undefined;
  if (!Array.isArray(names) || names.length === 0) throw new Error(`${path} lists no scenarios for clients.`);
  return names.map((name) => ({ name: String(name), revision }));
}
