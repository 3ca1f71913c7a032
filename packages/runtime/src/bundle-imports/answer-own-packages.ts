/**
 * Makes imports of Goondan's packages in bundle code resolve to the copy that the process itself runs. So a bundle need
 * not install these packages, and an error of the runtime is an instance of the error class that bundle code imports.
 */
import * as types from '@goondan/types';
import * as http from '@goondan/types/http';
import { findV010, V010_PACKAGE } from '../config/find-v010.ts';

/** Older documents import `@goondan/core`; the connectors of `@goondan/base` import `@goondan/types/http`. */
const ownModules = { '@goondan/types': types, '@goondan/core': types, '@goondan/types/http': http };

/**
 * Redirects these imports in the whole process, whatever a `node_modules` of the bundle contains. Call this function
 * before bundle code is imported.
 */
export function answerOwnPackages(): void {
  const v010 = findV010();
  Bun.plugin({
    name: 'goondan-own-packages',
    setup(build) {
      for (const [name, module] of Object.entries(ownModules)) {
        build.module(name, () => ({ exports: { ...module }, loader: 'object' }));
      }
      if (v010 === undefined) return;
      // Loaded when bundle code imports it. A bundle that has no copy beside the program needs its own.
      build.module(V010_PACKAGE, async () => {
        const module: object = await import(Bun.pathToFileURL(v010).href);
        return { exports: { ...module }, loader: 'object' };
      });
    },
  });
}
