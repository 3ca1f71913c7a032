// Logs on every level.
import type { ExtensionApi } from '@goondan/types';

const error = new Error('the disk is full');

export function register(api: ExtensionApi) {
// verbatim from seed 004, 5
// Available methods (standard Console interface)
api.logger.info('Extension initialized');
api.logger.debug('Processing step', { stepIndex: 3 });
api.logger.warn('Approaching token limit');
api.logger.error('Failed to load state', error);
// end of verbatim
}
