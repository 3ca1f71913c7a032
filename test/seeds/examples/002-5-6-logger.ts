// Logs on every level.
import type { ExtensionApi } from '@goondan/types';

const error = new Error('the disk is full');

export function register(api: ExtensionApi) {
// verbatim from seed 002, 5.6
// api.logger 사용 예시
api.logger.info('Extension initialized');
api.logger.debug('Processing step', { stepIndex: 3 });
api.logger.warn('Approaching token limit');
api.logger.error('Failed to load state', error);
// end of verbatim
}
