// Listens to the runtime and tells other extensions that it is there.
import type { ExtensionApi } from '@goondan/types';

// verbatim from seed 004, 4
export function register(api: ExtensionApi): void {
  // Subscribe to runtime events
  const unsubscribe = api.events.on('turn.completed', (payload) => {
    api.logger.info('Turn completed', payload);
  });

  // Emit custom events for other Extensions
  api.events.emit('my-ext.initialized', { version: '1.0.0' });

  // Unsubscribe when no longer needed
  process.on('beforeExit', () => {
    unsubscribe();
  });
}
// end of verbatim
