/** How resources are named. A name becomes part of a path and of a tool's name, so nothing else is one. */
export const resourceNamePattern = /^[a-z][a-z0-9-]{0,62}$/;
