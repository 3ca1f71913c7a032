import { providerVariables } from '@goondan/runtime/internal';

/** An environment in which nobody has a key, or an address of their own for a provider. For tests. */
export const noProviders: Readonly<Record<string, undefined>> = Object.fromEntries(
  Object.values(providerVariables).flatMap(({ key, endpoint }) => [
    [key, undefined],
    [endpoint, undefined],
  ]),
);
