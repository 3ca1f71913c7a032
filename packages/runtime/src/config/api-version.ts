/** The only version of the resource format and of the extension API that this runtime supports. */
export const API_VERSION = 'goondan.ai/v1';
