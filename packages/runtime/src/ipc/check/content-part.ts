import type { ContentPart, FilePart, ImagePart, TextPart } from '@goondan/types';
import { type Check, count, type FieldsOf, jsonObject, name, oneByField, optional, text } from './shape.ts';

/** A part of an input in a frame. Its image or file is a reference or a URL: bytes never travel in these frames. */
export const contentPart = oneByField('type', {
  text: () => ({ text, providerOptions: optional(jsonObject) }) satisfies Omit<FieldsOf<TextPart>, 'type'>,
  image: () =>
    ({
      image: name,
      mediaType: optional(name),
      filename: optional(name),
      size: optional(count),
      providerOptions: optional(jsonObject),
    }) satisfies Omit<FieldsOf<ImagePart>, 'type'>,
  file: () =>
    ({
      data: name,
      mediaType: name,
      filename: optional(name),
      size: optional(count),
      providerOptions: optional(jsonObject),
    }) satisfies Omit<FieldsOf<FilePart>, 'type'>,
  // Safe: provider options are objects of objects, which are checked where they are used.
}) as Check<ContentPart>;
