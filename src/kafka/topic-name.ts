/** What a topic may be called. `.` and `_` collide in the broker's metric names, so a set of topics should use one of them. */
export const topicNamePattern: RegExp = /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/;

/** Completes a message that starts with the offending name. */
export const topicNameHint = 'is no topic name (1 to 249 letters, digits, dots, underscores and hyphens)';

/** `topicNameHint` for topics that are read, where a pattern may have been meant. */
export const sourceTopicHint: string = `${topicNameHint}; a pattern is given as topicPattern`;
