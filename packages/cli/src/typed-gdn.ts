/** Returns the command that the person types for `gdn`: `npx gdn` if npx started this process. */
export function typedGdn(environment: Readonly<Record<string, string | undefined>> = process.env): 'gdn' | 'npx gdn' {
  // npx sets both variables. `npm run` sets the second one to the name of the script.
  return environment.npm_command === 'exec' && environment.npm_lifecycle_event === 'npx' ? 'npx gdn' : 'gdn';
}
