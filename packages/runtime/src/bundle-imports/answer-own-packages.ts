/**
 * What bundle code gets when it imports our packages: the copy of the process it runs in. A bundle needs no install of
 * them, and an error of ours that it catches is an instance of the class it imported.
 */
import * as types from '@goondan/types';

/** `@goondan/core` is the name older documents import. */
const ownPackages: readonly string[] = ['@goondan/types', '@goondan/core'];

/** For the whole process, and whatever stands in a `node_modules` of the bundle. To be called before bundle code is imported. */
export function answerOwnPackages(): void {
  Bun.plugin({
    name: 'goondan-own-packages',
    setup(build) {
      for (const name of ownPackages) build.module(name, () => ({ exports: { ...types }, loader: 'object' }));
      // The connectors of `@goondan/base` import it; its refusals are instances of the same class.
      build.module('@goondan/types/http', async () => ({
        exports: { ...(await import('@goondan/types/http')) },
        loader: 'object',
      }));
    },
  });
}
