/** Loads a connector's module. Every error names the connector and the reason. */
import { pathToFileURL } from 'node:url';
import { type Connector, GoondanError } from '@goondan/types';
import type { ConnectorStart } from '../config/connector-start.ts';
import { loadProblem, suggestionOf } from '../config/load-problem.ts';
import { resolveEntry } from '../config/resolve-entry.ts';

/** Loads the module. Throws `E_CONNECTOR_LOAD`, `E_PATH_OUTSIDE`. */
export async function loadConnector(source: Pick<ConnectorStart, 'connector' | 'root' | 'entry'>): Promise<Connector> {
  const { connector, root, entry } = source;
  const file = await resolveEntry(root, entry, `Connector/${connector}: entry`);
  if (file === undefined) throw loadError(source, 'there is no such file');
  const module: unknown = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw loadError(source, loadProblem(error, root), error);
  });
  const listen: unknown = typeof module === 'object' && module !== null ? Reflect.get(module, 'default') : undefined;
  if (typeof listen !== 'function') throw loadError(source, 'its default export is not a function');
  // This is only known to be a function. Its parameters cannot be checked.
  return listen as Connector;
}

function loadError(
  { connector, entry }: Pick<ConnectorStart, 'connector' | 'entry'>,
  problem: string,
  cause?: unknown,
): GoondanError {
  return new GoondanError('E_CONNECTOR_LOAD', `Connector/${connector}: "${entry}" cannot be loaded: ${problem}`, {
    ...suggestionOf(cause),
    cause,
  });
}
