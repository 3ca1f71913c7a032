/** Returns the command that the person types for `gdn`, such as `npx gdn`: the package manager that started it tells. */
export function typedGdn(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const { npm_command, npm_lifecycle_event: event, npm_config_user_agent = '' } = environment;
  // `npm run` sets the event to the name of the script, which may be anything.
  if (npm_command !== 'exec') return 'gdn';
  if (npm_config_user_agent.startsWith('pnpm/')) return 'pnpm exec gdn';
  return event === 'npx' || event === 'bunx' ? `${event} gdn` : 'gdn';
}
