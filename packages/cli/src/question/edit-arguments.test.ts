import { describe, expect, test } from 'bun:test';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { editArguments } from './edit-arguments.ts';

/** Edits with an editor that covers the screen. `presses`: whether the person presses Enter after a problem. */
async function edit(texts: readonly string[], presses: boolean) {
  const events: string[] = [];
  const left = [...texts];
  const edited = await editArguments(
    { ...fakeQuestion, args: { command: 'ls' } },
    {},
    {
      hidesProblems: true,
      suggest: String,
      show: (lines) => events.push(lines[0]?.text ?? ''),
      async readLine(prompt) {
        events.push(prompt);
        return presses ? '' : undefined;
      },
      async editText() {
        events.push('editor');
        return left.shift();
      },
    },
  );
  return { edited, events: events.slice(1) };
}

describe('an editor that covers the screen', () => {
  const problem = 'This is not JSON: unexpected "oops", at line 1, column 2.';

  test('opens again only when the person has read the problem', async () => {
    const { edited, events } = await edit(['{oops', '{"command":"pwd"}'], true);
    expect(events.slice(0, 4)).toEqual(['editor', problem, 'Enter opens the editor again. ', 'editor']);
    expect(edited).toEqual({ args: { command: 'pwd' } });
  });

  test('does not open again after Ctrl-C, and the question stays open', async () => {
    const { edited, events } = await edit(['{oops'], false);
    expect(events).toEqual(['editor', problem, 'Enter opens the editor again. ']);
    expect(edited).toBeUndefined();
  });
});
