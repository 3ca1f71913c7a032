/**
 * Makes imports of Goondan's packages in bundle code resolve to the copy that the process itself runs. So a bundle need
 * not install these packages, and an error of the runtime is an instance of the error class that bundle code imports.
 */
import * as types from '@goondan/types';
import * as http from '@goondan/types/http';
import { V010_PACKAGE } from '../config/v010-package.ts';
import { findV010, notInstalled } from './find-v010.ts';

/** Older documents import `@goondan/core`; the connectors of `@goondan/base` import `@goondan/types/http`. */
const ownModules = { '@goondan/types': types, '@goondan/core': types, '@goondan/types/http': http };

/**
 * Redirects these imports in the whole process, whatever a `node_modules` of the bundle contains. Call this function
 * before bundle code is imported. `bundleFolder`: where `@goondan/v010` is looked for if it is not beside the program.
 */
export function answerOwnPackages(bundleFolder?: string): void {
  Bun.plugin({
    name: 'goondan-own-packages',
    setup(build) {
      for (const [name, module] of Object.entries(ownModules)) {
        build.module(name, () => ({ exports: { ...module }, loader: 'object' }));
      }
      // Found and loaded when bundle code imports it.
      build.module(V010_PACKAGE, async () => {
        const file = findV010(bundleFolder);
        if (file === undefined) throw notInstalled(`A module of the bundle imports ${V010_PACKAGE}`);
        const module: object = await import(Bun.pathToFileURL(file).href);
        return { exports: { ...module }, loader: 'object' };
      });
    },
  });
}
