/** The package that runs extensions for v0.10. The runtime does not depend on it. */
export const V010_PACKAGE = '@goondan/v010';
