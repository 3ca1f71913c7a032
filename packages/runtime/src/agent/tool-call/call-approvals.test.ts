import { describe, expect, test } from 'bun:test';
import { digestJson } from '../../json/digest-json.ts';
import { CallApprovals } from './call-approvals.ts';

const changed = expect.objectContaining({ code: 'E_APPROVAL_CHANGED' });

describe('the approvals of one tool call', () => {
  test('two approvals of different arguments approve neither', () => {
    const approvals = new CallApprovals('file__write');
    approvals.open()(digestJson({ path: '/a' }), 'approved');
    approvals.bind({ path: '/b' });
    for (const path of ['/a', '/b']) expect(() => approvals.check({ path })).toThrow(changed);
  });

  test('two approvals of the same arguments approve them, and no others', () => {
    const approvals = new CallApprovals('file__write');
    approvals.open()(digestJson({ path: '/a' }), 'approved');
    approvals.bind({ path: '/a' });
    approvals.check({ path: '/a' });
    expect(() => approvals.check({ path: '/b' })).toThrow(changed);
  });
});

test('N-04 a question that is asked after the end of its call is withdrawn at once', () => {
  const approvals = new CallApprovals('file__write');
  approvals.close();
  expect(approvals.signal).toMatchObject({ aborted: true, reason: { code: 'E_APPROVAL_DENIED' } });
});
