import { expect, test } from 'bun:test';
import type { SwarmPolicy } from '../../config/swarm-policy.ts';
import { swarmSettings } from './swarm-settings.ts';

test.each<[SwarmPolicy['changes'], { allow: string[]; approve: boolean }]>([
  [undefined, { allow: [], approve: true }],
  [{ allow: ['*.md'] }, { allow: ['*.md'], approve: true }],
  [{ approve: false }, { allow: [], approve: false }],
])(
  'L-05 agents may change nothing without a person, unless the operator writes something else: %j',
  (changes, expected) => {
    expect(swarmSettings({ policy: changes === undefined ? {} : { changes } }).changes).toEqual(expected);
  },
);
