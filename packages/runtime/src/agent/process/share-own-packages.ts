/**
 * Bundle code that imports `@goondan/types` gets the copy this process runs, whatever lies in the bundle's own
 * `node_modules`: an error thrown there is an error here (`instanceof`), and a bundle needs no installation.
 */
import * as types from '@goondan/types';

/** Old documents import from `@goondan/core`, which is the same. */
const names = ['@goondan/types', '@goondan/core'];

/** Before the first module of the bundle is imported. */
export function shareOwnPackages(): void {
  Bun.plugin({
    name: 'goondan',
    setup(build) {
      for (const name of names) build.module(name, () => ({ exports: { ...types }, loader: 'object' }));
    },
  });
}
