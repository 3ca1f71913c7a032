/**
 * What bundle code gets when it imports our packages: the copy of the process it runs in. A bundle needs no install of
 * them, and an error of ours that it catches is an instance of the class it imported.
 */
import * as types from '@goondan/types';
import * as http from '@goondan/types/http';

/** `@goondan/core` is the name older documents import; the connectors of `@goondan/base` import the third. */
const ownModules = { '@goondan/types': types, '@goondan/core': types, '@goondan/types/http': http };

/** For the whole process, and whatever stands in a `node_modules` of the bundle. To be called before bundle code is imported. */
export function answerOwnPackages(): void {
  Bun.plugin({
    name: 'goondan-own-packages',
    setup(build) {
      for (const [name, module] of Object.entries(ownModules)) {
        build.module(name, () => ({ exports: { ...module }, loader: 'object' }));
      }
    },
  });
}
