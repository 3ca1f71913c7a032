/** A key that a person pressed, independent of the terminal. */
export type Key =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: EditingKey }
  /** Ctrl-C, Ctrl-D and Ctrl-\. */
  | { readonly type: 'interrupt' | 'end-of-input' | 'quit' }
  | { readonly type: 'clear-screen' | 'tab' }
  /** A paste that exceeds the limit; none of it is kept. */
  | { readonly type: 'paste-too-long' };

export type EditingKey =
  | 'enter'
  | 'new-line'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'word-left'
  | 'word-right'
  | 'backspace'
  | 'delete'
  | 'delete-word'
  | 'delete-next-word'
  | 'delete-to-start'
  | 'delete-to-end'
  | 'yank';
