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

test('the bundle before is deployed again', async () => {
  const deployments = deploymentsWith('new');
  expect(await takeBack(deployments, done)).toBe(true);
  expect(deployments.current()).toBe('old');
});

test('a bundle that somebody else has deployed meanwhile stays', async () => {
  const deployments = deploymentsWith('newest');
  expect(await takeBack(deployments, done)).toBe(false);
  expect(deployments.current()).toBe('newest');
});

test('a bundle that was deployed before, or that is the first one, stays', async () => {
  const { before: _, ...first } = done;
  for (const one of [{ ...done, isNew: false }, first]) {
    const deployments = deploymentsWith('new');
    expect(await takeBack(deployments, one)).toBe(false);
    expect(deployments.current()).toBe('new');
  }
});
