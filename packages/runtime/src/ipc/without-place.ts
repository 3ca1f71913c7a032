import { type CodePlace, errorCatalogue, isErrorCode } from '@goondan/types';

/**
 * Removes everything from an error that must not reach a model or the outside: the place in the bundle, paths of the
 * state root, and output of MCP servers. The log contains these details.
 */
export function withoutPlace<
  Told extends { readonly code?: string; readonly message: string; readonly place?: CodePlace },
>({ place: _, ...told }: Told) {
  const { code = '' } = told;
  if (!namesFiles.test(code) || !isErrorCode(code)) return told;
  return { ...told, message: errorCatalogue[code].meaning };
}

/** Codes whose messages name files of the state root, or quote output of an MCP server. */
const namesFiles = /^E_(?:STORE_[A-Z]+|STATE_ROOT|DISK_FULL|FENCED|LOCKED|MCP_CONNECT)$/;
