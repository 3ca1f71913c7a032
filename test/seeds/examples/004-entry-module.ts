// The smallest extension there is.
// verbatim from seed 004, Entry module
// extensions/my-extension/index.ts
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi): void {
  // Register middleware, tools, event handlers, etc.
}
// end of verbatim
