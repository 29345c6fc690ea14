import { describe, expect, it } from 'vitest';
import { encodeVariant } from '../../../../src/codec/variant/encode-variant.ts';
import { foldVariant } from '../../../../src/codec/variant/fold-variant.ts';
import { parseJsonVariant } from '../../../../src/codec/variant/parse-json-variant.ts';
import { variantJson, variantText, variantValue } from '../../../../src/codec/variant/variant-forms.ts';
import { variantAt, variantPath } from '../../../../src/codec/variant/variant-path.ts';

function parsed(json: string) {
  const bytes = parseJsonVariant(json);
  if (bytes === undefined) throw new Error(`${json} is no JSON`);
  return bytes;
}

describe('variants', () => {
  it('are encoded as the specification says: members by name, the narrowest widths', () => {
    const { metadata, value } = parsed('{"b":1,"a":[300,2.50,null]}');
    expect(Buffer.from(metadata).toString('hex')).toBe('01020001026261');
    // Two members: a (name 1) at 0, b (name 0) after its 16 bytes, 18 in all; the list: 300 in 16 bits, 2.50 as a decimal of scale 2, null.
    const list = ['03', '03', '00', '03', '09', '0a', '102c01', '2002fa000000', '00'].join('');
    expect(Buffer.from(value).toString('hex')).toBe(['02', '02', '0100', '0010', '12'].join('') + list + '0c01');
    expect(Buffer.from(parsed('1').value).toString('hex')).toBe('0c01');
  });

  it.each([
    [
      '{"a":[1,2.5,null,"x",{"k":true}],"b":1,"big":12345678901234567890,"f":1.0E10}',
      '{"b":1,"a":[1,2.50,null,"x",{"k":true}],"big":12345678901234567890,"f":1e10}',
    ],
    ['-9223372036854775808', '-9223372036854775808'],
    ['123456789012345678901234567890.5', '123456789012345678901234567890.5'],
    ['1.2345678901234568E39', '1234567890123456789012345678901234567890'],
    ['0.001', '0.0010'],
    ['1.0E-4', '1e-4'],
    ['100.0', '1e2'],
    ['"\\u0001é\\""', '"\\u0001é\\""'],
    ['{}', ' { } '],
    ['[]', '[ ]'],
  ])('print %s', (printed, json) => {
    expect(variantJson(parsed(json))).toBe(printed);
  });

  it('hold long texts, large lists and large objects', () => {
    const object = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`m${String(index).padStart(4, '0')}`, 'é'.repeat(index)]));
    const json = JSON.stringify([object, Array.from({ length: 70_000 }, (_, index) => index)]);
    expect(variantJson(parsed(json))).toBe(json);
  });

  it.each(['{bad', '', '01', '1.', '[1,]', '{"a":1,"a":2}', '"\u0001"', '1 2', "'a'", 'NaN'])('are not made of %s', (text) => {
    expect(parseJsonVariant(text)).toBeUndefined();
  });

  it('become values of the language that lose nothing', () => {
    expect(variantValue(parsed('{"n":1,"l":9007199254740993,"d":2.5,"e":0.1234567890123456789,"t":"x","z":null,"b":[true]}'))).toEqual({
      n: 1,
      l: 9007199254740993n,
      d: 2.5,
      e: '0.1234567890123456789',
      t: 'x',
      z: null,
      b: [true],
    });
  });

  it('cast to text: text as it is, nothing for null, JSON for the others', () => {
    expect(['"a"', 'null', '1.50', '{"a":"b"}'].map((json) => variantText(parsed(json)))).toEqual(['a', undefined, '1.5', '{"a":"b"}']);
  });

  it('are looked into by a path', () => {
    const bytes = parsed('{"a":[1,{"b c":"x"}]}');
    const at = (path: string): string | undefined => {
      const found = variantAt(bytes, variantPath(path) ?? []);
      return found === undefined ? undefined : variantJson(found);
    };
    expect(['$', '$.a[0]', "$.a[1]['b c']", '$.a[2]', '$.x.y', '$["a"]'].map(at)).toEqual([
      '{"a":[1,{"b c":"x"}]}',
      '1',
      '"x"',
      undefined,
      undefined,
      '[1,{"b c":"x"}]',
    ]);
    expect(['a', '$a', '$.a[', '$..a'].map(variantPath)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('that are damaged are refused, wherever they are cut', () => {
    const { metadata, value } = encodeVariant({ kind: 'object', members: [['a', { kind: 'list', elements: [1n, 'x', null] }]] });
    for (let length = 0; length < value.length - 1; length++) {
      expect(() => variantJson({ metadata, value: value.subarray(0, length) })).toThrow('a variant cannot be read');
    }
    for (let length = 0; length < metadata.length; length++) {
      expect(() => variantJson({ metadata: metadata.subarray(0, length), value })).toThrow('a variant cannot be read');
    }
    expect(() => foldVariant({ metadata, value: Uint8Array.of(63 << 2) }, {} as never)).toThrow('type 63');
  });
});
