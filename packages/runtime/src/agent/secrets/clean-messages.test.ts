import { describe, expect, test } from 'bun:test';
import { createUserMessage, type ModelMessage } from '@goondan/types';
import { growingMask } from '../../log/mask-secrets.ts';
import { MessageList } from '../../messages/message-list.ts';
import { checkMessage } from '../conversation/check-message-event.ts';
import { LlmView } from '../conversation/llm-view.ts';
import { CleanMessages } from './clean-messages.ts';

const canary = 'canary-12345';
const later = 'later-secret';

function viewOf(...texts: string[]) {
  const mask = growingMask([canary]);
  const clean = new CleanMessages(mask);
  const list = MessageList.of(
    texts.map((text, index) => checkMessage(createUserMessage(text, {}, { id: `${index}` }))),
  );
  return { mask, clean, list, view: new LlmView(list, `Say ${canary}.`, clean) };
}

const textsOf = (messages: readonly ModelMessage[]) => messages.map(({ content }) => content);

describe('messages for a model', () => {
  test('of a loaded conversation, and its system prompt, have no secret', () => {
    const { view, clean } = viewOf(`a ${canary}`, 'b');
    expect(textsOf(view.messages())).toEqual(['Say ***.', 'a ***', 'b']);
    expect(textsOf(clean.of(view.messages()))).toEqual(['Say ***.', 'a ***', 'b']);
  });

  test('are masked again when a secret becomes known, even while a model call has them', async () => {
    const { view, clean, mask, list } = viewOf(`a ${later}`, `b ${canary}`);
    await view.lend(async (messages) => {
      expect(clean.of(messages)).toBe(messages);
      expect(textsOf(messages)).toEqual(['Say ***.', `a ${later}`, 'b ***']);
      mask.add([later]);
      expect(textsOf(clean.of(messages))).toEqual(['Say ***.', 'a ***', 'b ***']);
      expect(textsOf(clean.of([...messages]))).toEqual(['Say ***.', 'a ***', 'b ***']);
    });
    list.apply({ type: 'append', message: checkMessage(createUserMessage('c', {}, { id: 'c' })) });
    await view.lend(async (messages) => {
      expect(clean.of(messages)).toBe(messages);
      expect(textsOf(messages)).toEqual(['Say ***.', 'a ***', 'b ***', 'c']);
    });
  });

  test('that a layer adds, moves or changes are masked', async () => {
    const { view, clean } = viewOf('a', 'b');
    await view.lend(async (messages) => {
      const own: ModelMessage = { role: 'user', content: `own ${canary}` };
      expect(textsOf(clean.of([own, ...messages]))).toEqual(['own ***', 'Say ***.', 'a', 'b']);
      const changing = [...messages, { ...own, content: 'harmless' }];
      expect(clean.of(changing)[3]).toEqual({ role: 'user', content: 'harmless' });
      Object.assign(changing[3] ?? {}, own);
      expect(clean.of(changing)[3]).toEqual({ role: 'user', content: 'own ***' });
    });
  });

  test('are frozen where the view masked them', () => {
    const [prompt, message] = viewOf(`a ${canary}`).view.messages();
    expect([Object.isFrozen(prompt), Object.isFrozen(message)]).toEqual([true, true]);
  });
});
