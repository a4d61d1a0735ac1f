import { describe, expect, it } from 'vitest'
import { hostedNames, mixesScripts } from './look-alikes.ts'

const hosted = hostedNames(['acme.test', 'paypal.test', 'xn--mnchen-3ya.test', 'modern.test'])
const asciiOf = (name: string) => new URL(`http://${name}/`).hostname

describe('a hosted domain', () => {
  it.each([
    'аcme.test',
    'www.асме.test',
    'acrne.test',
    'acme-.test',
    'paypa1.test',
    'paypaI.test',
    'login.рaypal.test',
    'páypal.test',
    'munchen.test',
    'rnodern.test',
    'acme.test.login.evil.test',
    'www.paypal.test.evil.test',
  ])('is imitated by %s', (name) => {
    expect(hosted.isImitatedBy(asciiOf(name))).toBe(true)
  })

  it.each([
    'acme.test',
    'www.acme.test',
    'a.b.paypal.test',
    'xn--mnchen-3ya.test',
    'example.com',
    'acme.example',
    'test',
    '127.0.0.1',
    'my-acme.test',
  ])('is not imitated by %s', (name) => {
    expect(hosted.isImitatedBy(asciiOf(name))).toBe(false)
  })
})

it('Latin with Cyrillic or Greek letters in one label is a mixture; one script alone is not', () => {
  expect(mixesScripts(asciiOf('pаypal.example'))).toBe(true)
  expect(mixesScripts(asciiOf('www.gооgle.example'))).toBe(true)
  expect(mixesScripts(asciiOf('москва.example'))).toBe(false)
  expect(mixesScripts(asciiOf('münchen.example'))).toBe(false)
  expect(mixesScripts(asciiOf('日本語.example'))).toBe(false)
})
