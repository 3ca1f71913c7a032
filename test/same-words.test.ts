// Studio imports only types of other packages, so it has a copy of some texts. The copies say the same.
import { expect, test } from 'bun:test';
import { showText as showInTerminal } from '../packages/cli/src/question/show-text.ts';
import { describeCacheLoss as describeInTrace } from '../packages/runtime/src/trace/cache-loss.ts';
import { describeAnswer as answerInTrace } from '../packages/runtime/src/trace/describe-answer.ts';
import type { CacheLoss } from '../packages/runtime/src/trace/cache-loss.ts';
import {
  describeAnswer as answerInStudio,
  describeCacheLoss as describeInStudio,
} from '../packages/studio/src/onion/describe-band.ts';
import { showText as showInStudio } from '../packages/studio/src/text/show-text.ts';

test.each<CacheLoss>([
  { at: 'message', position: 4, by: { kind: 'extension', name: 'skills' }, did: 'replaced it', tokens: 9 },
  { at: 'system prompt', by: { kind: 'bundle' }, did: 'changed it', tokens: 9 },
])('Y-05 Studio describes a lost cache with the words of gdn trace: %j', (loss) => {
  expect(describeInStudio(loss)).toBe(describeInTrace(loss));
});

test.each([
  { decision: 'denied', by: 'ann', via: 'chat' },
  { kind: 'form', decision: 'approved', by: 'ann', via: 'chat' },
  { kind: 'page', decision: 'denied', by: 'ann', via: 'disk', afterMs: 3_600_000 },
  { kind: 'form', decision: 'expired' },
  { decision: 'approved', by: 'bob', via: 'studio', grant: '9b1e44c0' },
  { decision: 'expired' },
] as const)('Studio describes the answer of a person with the words of gdn trace: %j', (answer) => {
  expect(answerInStudio(answer)).toBe(answerInTrace(answer));
});

test('Studio writes out the characters that a terminal writes out', () => {
  for (const text of ['a\u202eb\u200bc\u0007\u{e0041}\n\td', '\ud800 \u2028 \uffa0']) {
    expect(showInStudio(text)).toBe(showInTerminal(text));
  }
});
