import { expect, test } from 'bun:test';
import type { NewDeployment } from '@goondan/runtime/history';
import { takeBack } from './deploy-bundle.ts';

/** The deployments of a swarm with two bundles in memory. */
function deploymentsWith(deployed: string) {
  let current = deployed;
  return {
    current: () => current,
    read: async (digest: string) => Buffer.from(`bundle ${digest}`),
    async put({ digest, base }: NewDeployment) {
      if (base !== undefined && base !== current) return false;
      current = digest;
      return true;
    },
  };
}

const done = { digest: 'new', isNew: true, before: 'old', by: 'ann' };

const { before: _, ...first } = done;

test.each([
  ['the bundle before is deployed again', 'new', done, true, 'old'],
  ['a bundle that somebody else has deployed meanwhile stays', 'newest', done, false, 'newest'],
  ['a bundle that was deployed before stays', 'new', { ...done, isNew: false }, false, 'new'],
  ['a bundle that is the first one stays', 'new', first, false, 'new'],
])('%s', async (_title, deployed, one, isTakenBack, current) => {
  const deployments = deploymentsWith(deployed);
  expect(await takeBack(deployments, one)).toBe(isTakenBack);
  expect(deployments.current()).toBe(current);
});
