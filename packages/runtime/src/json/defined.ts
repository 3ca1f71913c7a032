/** Returns the object without its `undefined` properties, as JSON does. */
export function defined<T extends object>(object: T): Defined<T> {
  // Safe: the result has exactly the properties that have a value.
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}

export type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};
