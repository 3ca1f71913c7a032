/** The codes of the tools in the base library: what a model reads when a call of it cannot be done. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const toolErrors = {
  E_COMMAND_SANDBOX: {
    meaning: 'The tool `bash` must not run a command without a sandbox, and there is none that works.',
    suggestion:
      'Install bubblewrap and allow user namespaces (`gdn doctor` says why it does not work), or set `sandbox: auto`.',
  },
  E_COMMAND_START: {
    meaning: 'The tool `bash` could not start a command.',
    suggestion: 'Read the message; correct the folder or the command.',
  },
} as const satisfies Record<string, CatalogueEntry>;
