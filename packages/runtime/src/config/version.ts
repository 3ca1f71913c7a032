/** The version of every package of Goondan; a test compares it with their manifests. */
export const VERSION = '0.1.0';
