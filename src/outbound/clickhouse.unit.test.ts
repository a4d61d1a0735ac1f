import { expect, it } from 'vitest'
import { ch, column, joined } from './clickhouse.ts'

it('writes texts so that no character of them can end the literal', () => {
  const hostile = "'; drop table mail_log; --\\\0\n😀"
  const { text } = ch`select ${hostile}`
  expect(text).toMatch(/^select unhex\('[0-9a-f]*'\)$/)
  const [, hex = ''] = /'(.*)'/.exec(text) ?? []
  expect(Buffer.from(hex, 'hex').toString()).toBe(hostile)
})

it('writes lists, numbers and fragments', () => {
  expect(ch`id in ${['a', 'b']} and at = ${-5}`.text).toBe(
    "id in (unhex('61'),unhex('62')) and at = -5",
  )
  expect(joined([ch`a = ${1}`, ch`${column('b')} = ${2}`], ' or ').text).toBe('a = 1 or b = 2')
})

it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('refuses the number %s', (number) => {
  expect(() => ch`at = ${number}`).toThrow('is no whole number')
})

it('refuses an empty list and a name with other characters than those of columns', () => {
  expect(() => ch`id in ${[]}`).toThrow('needs one value at least')
  expect(() => column('id; drop table mail_log')).toThrow('is no name of a column')
})
