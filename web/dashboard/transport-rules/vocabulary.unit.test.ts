import { describe, expect, it } from 'vitest'
import { headerOf, sentAction, withField } from './vocabulary.ts'

describe('conditions of transport rules', () => {
  it('split a header into its name and the text that is looked for', () => {
    expect(headerOf('X-Priority: high: now')).toEqual({ name: 'X-Priority', text: 'high: now' })
    expect(headerOf('X-Priority:')).toEqual({ name: 'X-Priority', text: '' })
    expect(headerOf('')).toEqual({ name: '', text: '' })
  })

  it('keep the text between fields that are text, and no comparison that the field lacks', () => {
    const sender = { field: 'sender', operator: 'ends_with', value: '@a.test' } as const
    expect(withField(sender, 'subject')).toEqual({ ...sender, field: 'subject' })
    expect(withField(sender, 'header')).toEqual({ ...sender, field: 'header', value: ': @a.test' })
    expect(withField({ ...sender, field: 'header', value: 'X-A: b' }, 'sender').value).toBe('b')
    expect(withField(sender, 'size')).toEqual({
      field: 'size',
      operator: 'greater_than',
      value: '',
    })
    expect(withField(sender, 'has_attachment')).toEqual({
      field: 'has_attachment',
      operator: 'equals',
      value: 'true',
    })
  })
})

describe('actions of transport rules', () => {
  it('are sent with the parameters of their type that have a text', () => {
    const params = { prefix: '[external]', suffix: '', address: 'a@b.test' }
    expect(sentAction({ type: 'modify_subject', params })).toEqual({
      type: 'modify_subject',
      params: { prefix: '[external]' },
    })
    expect(sentAction({ type: 'quarantine', params })).toEqual({ type: 'quarantine', params: {} })
  })
})
