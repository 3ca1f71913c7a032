/** The input line: takes keys and returns what they mean for the chat. */
import { type EditedText, edit, insert, leavesText, noText } from './edit-text.ts';
import { InputHistory } from './input-history.ts';
import type { Key } from './key.ts';

export type PromptOutcome =
  /** The text may be blank. `isNext`: Tab sent it, to be the next turn if a turn runs. */
  | { readonly type: 'sent'; readonly text: string; readonly isNext?: true }
  /** Ctrl-C, Ctrl-D with nothing to delete, and Ctrl-\. */
  | { readonly type: 'interrupt' | 'leave' | 'quit' }
  | { readonly type: 'clear-screen' }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'edited' };

const tooLong = 'The text is too long for a message and was not added. Put it into a file, and name the file.';

export class Prompt {
  readonly history = new InputHistory();
  #edited: EditedText = noText;

  get edited(): EditedText {
    return this.#edited;
  }

  /** Replaces the text. */
  set(text: string): void {
    this.#edited = insert({ ...noText, killed: this.#edited.killed }, text) ?? noText;
  }

  /** Replaces the text before the cursor. */
  setBefore(before: string): void {
    const { text, cursor } = this.#edited;
    this.#edited = insert({ ...this.#edited, text: text.slice(cursor), cursor: 0 }, before) ?? this.#edited;
  }

  /** Clears the line; the arrow keys bring its text back. */
  clear(): void {
    this.history.add(this.#edited.text);
    this.set('');
  }

  press(key: Key): PromptOutcome {
    switch (key.type) {
      case 'text':
      case 'paste':
        return this.#insert(key.text);
      case 'paste-too-long':
        return { type: 'refused', reason: tooLong };
      case 'interrupt':
      case 'quit':
      case 'clear-screen':
        return { type: key.type };
      case 'end-of-input':
        if (this.#edited.text === '') return { type: 'leave' };
        return this.#set(edit(this.#edited, 'delete'));
      case 'enter':
        return this.#enter();
      case 'tab':
        return this.#tab();
      case 'up':
      case 'down':
        return leavesText(this.#edited, key.type) ? this.#recall(key.type) : this.#set(edit(this.#edited, key.type));
      default:
        return this.#set(edit(this.#edited, key.type));
    }
  }

  /** Handles Enter: sends the text. After a backslash, Enter begins a new line instead. */
  #enter(): PromptOutcome {
    const { text, cursor } = this.#edited;
    if (text.slice(0, cursor).endsWith('\\')) return this.#set(edit(edit(this.#edited, 'backspace'), 'new-line'));
    this.clear();
    return { type: 'sent', text };
  }

  /** Handles Tab: sends the text as the next turn. */
  #tab(): PromptOutcome {
    const { text } = this.#edited;
    if (text.trim() === '') return { type: 'edited' };
    this.clear();
    return { type: 'sent', text, isNext: true };
  }

  #insert(typed: string): PromptOutcome {
    const edited = insert(this.#edited, typed);
    return edited === undefined ? { type: 'refused', reason: tooLong } : this.#set(edited);
  }

  #recall(key: 'up' | 'down'): PromptOutcome {
    const text = this.history.go(key === 'up' ? -1 : 1, this.#edited.text);
    if (text !== undefined) this.set(text);
    return { type: 'edited' };
  }

  #set(edited: EditedText): PromptOutcome {
    this.#edited = edited;
    return { type: 'edited' };
  }
}
