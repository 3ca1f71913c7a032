import { describe, expect, test } from 'bun:test';
import type { ApprovalSummary } from '@goondan/runtime';
import pc from 'picocolors';
import { describeApproval } from './describe-approval.ts';
import { showText } from './show-text.ts';

const approval: ApprovalSummary = {
  id: '3fa9c1d2',
  agent: 'helper',
  instanceKey: 'default',
  eventId: 'e1',
  traceId: 't1',
  toolCallId: 'call_1',
  toolName: 'bash__exec',
  args: { command: 'ls\nrm -rf /' },
  digest: 'd',
  reason: 'It is a shell.',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-02T00:00:00.000Z',
};
const plain = pc.createColors(false);

describe('the description of a waiting call', () => {
  test('has everything that a person must judge', () => {
    expect(describeApproval(approval, plain, false)).toBe(
      [
        '3fa9c1d2  helper (default)  bash__exec',
        '    {"command":"ls\\nrm -rf /"}',
        '    It is a shell.',
        '    turn e1, asked 2026-01-01T00:00:00Z, expires 2026-01-02T00:00:00Z',
        '',
      ].join('\n'),
    );
  });

  test('hides nothing: invisible characters are written out, long texts are counted', () => {
    const tricky = {
      ...approval,
      reason: 'ok\u001b[2K\u001b[1A',
      args: { command: `echo \u202e hi \u200b\u{e0041}`, x: 'y'.repeat(5_000) },
    };
    const shown = describeApproval(tricky, plain, false);
    expect(shown).toContain('ok\\u001b[2K\\u001b[1A');
    expect(shown).toContain('echo \\u202e hi \\u200b\\u{e0041}');
    expect(shown).toMatch(/… and \d+ characters more: see them with `gdn approve --json`/);
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/u);
  });

  test('shows a changeset as its diff: every line, with tabs, and invisible characters written out', () => {
    const diff = '--- a/x.ts\n+++ b/x.ts\n@@ -1,1 +1,1 @@\n-\tsafe();\n+\tsafe(); // \u202ehidden\n';
    const args = { changesetId: 'c1', digest: 'd', files: [{ path: 'x.ts', change: 'changed', diff }] };
    const change: ApprovalSummary = { ...approval, toolName: 'bundle__commit', kind: 'change', args };
    expect(describeApproval(change, plain, false)).toBe(
      [
        '3fa9c1d2  helper (default)  bundle__commit',
        '    --- a/x.ts',
        '    +++ b/x.ts',
        '    @@ -1,1 +1,1 @@',
        '    -\tsafe();',
        '    +\tsafe(); // \\u202ehidden',
        '    It is a shell.',
        '    turn e1, asked 2026-01-01T00:00:00Z, expires 2026-01-02T00:00:00Z',
        '',
      ].join('\n'),
    );
    const long = { ...change, args: { files: [{ path: 'x.ts', change: 'changed', diff: '+x\n'.repeat(20_000) }] } };
    expect(describeApproval(long, plain, false)).toContain('… and 20000 characters more: see them with `gdn approve');
  });

  test('shows a change without a readable diff as its arguments', () => {
    expect(describeApproval({ ...approval, kind: 'change' }, plain, false)).toContain('"command"');
  });

  test('leaves letters of all scripts unchanged', () => {
    expect(showText('Grüße, 안녕 🙂 مرحبا')).toBe('Grüße, 안녕 🙂 مرحبا');
  });
});
