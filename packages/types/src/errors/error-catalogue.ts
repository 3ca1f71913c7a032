/**
 * Lists every error code that Goondan reports, each once. `docs/errors.md` is generated from this list, and a test
 * checks that the page is up to date. Codes are never renamed: people search for them, and programs branch on them.
 */
import { agentErrors } from './agent-errors.ts';
import { bundleErrors } from './bundle-errors.ts';
import type { CatalogueEntry } from './catalogue-entry.ts';
import { changesetErrors } from './changeset-errors.ts';
import { clusterErrors } from './cluster-errors.ts';
import { modelErrors } from './model-errors.ts';
import { storeErrors } from './store-errors.ts';
import { swarmErrors } from './swarm-errors.ts';
import { toolErrors } from './tool-errors.ts';

export const errorCatalogue = {
  ...agentErrors,
  ...bundleErrors,
  ...changesetErrors,
  ...clusterErrors,
  ...modelErrors,
  ...storeErrors,
  ...swarmErrors,
  ...toolErrors,
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;
