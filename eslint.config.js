import tseslint from 'typescript-eslint';

const member = (object, property, use) => ({
  selector: `MemberExpression[object.name='${object}'][property.name='${property}']`,
  message: `use ${use}`,
});
const ambient = [
  member('Date', 'now', 'Clock'),
  member('performance', 'now', 'Clock'),
  member('Math', 'random', 'Random'),
  member('crypto', 'randomUUID', 'IdSource'),
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'use Clock' },
  member('JSON', 'parse', 'base/bigint-json'),
  member('JSON', 'stringify', 'base/bigint-json'),
];
const house = [
  { selector: "ThrowStatement > NewExpression[callee.name='Error']", message: 'throw a ServiceError with a code' },
  { selector: 'TSEnumDeclaration', message: 'use a union of string literals' },
];
const outsideIo = { 'no-console': 'off', 'no-restricted-globals': 'off', 'no-restricted-imports': 'off' };

export default tseslint.config(
  { ignores: ['dist', 'node_modules', '**/*.js', '**/*.mjs', '**/*.cjs', 'vitest.config.ts'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-globals': ['error', 'process', 'setTimeout', 'setInterval', 'setImmediate'],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'node:crypto', importNames: ['randomUUID', 'randomBytes', 'randomInt'], message: 'use IdSource or Random' },
            { name: 'node:timers', message: 'use Clock' },
            { name: 'node:timers/promises', message: 'use Clock' },
            { name: 'node:process', message: 'use config' },
          ],
        },
      ],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } }],
      'no-restricted-syntax': ['error', ...ambient, ...house],
    },
  },
  { files: ['src/base/**', 'src/app/**', 'src/cli/**'], rules: { ...outsideIo, 'no-restricted-syntax': ['error', ...house] } },
  {
    // Tests and benches arrange the world: they own real time, processes and plain JSON.
    files: ['test/**', 'bench/**', 'examples/**'],
    rules: {
      ...outsideIo,
      'no-restricted-syntax': 'off',
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
