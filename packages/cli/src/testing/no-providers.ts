import { providerVariables } from '@goondan/runtime/internal';

/** An environment without keys or custom addresses of providers. For tests. */
export const noProviders: Readonly<Record<string, undefined>> = Object.fromEntries(
  Object.values(providerVariables).flatMap(({ key, endpoint }) => [
    [key, undefined],
    [endpoint, undefined],
  ]),
);
