import { describe, expect, it } from 'vitest'
import { lineCutter, readQueueLine } from './queue-lines.ts'

const cut = (...chunks: Buffer[]) => {
  const lines: (string | undefined)[] = []
  const cutter = lineCutter((line) => lines.push(line))
  for (const chunk of chunks) cutter.take(chunk)
  cutter.end()
  return lines
}

describe('a listing of the queue', () => {
  it('is split into lines even when a chunk ends within a multi-byte character', () => {
    const bytes = Buffer.from('{"a":"ü"}\n\n{"b":1}\nlast')
    for (let at = 0; at <= bytes.length; at++) {
      expect(cut(bytes.subarray(0, at), bytes.subarray(at))).toEqual([
        '{"a":"ü"}',
        '{"b":1}',
        'last',
      ])
    }
  })

  it('passes undefined for an oversized line and continues with the next line', () => {
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const endless = Array.from({ length: 40 }, () => piece)
    expect(cut(Buffer.from('a\n'), ...endless, Buffer.from('x\nb\n'))).toEqual([
      'a',
      undefined,
      'b',
    ])
  })

  it('returns undefined for lines that do not describe a message', () => {
    for (const text of [
      '',
      'null',
      '7',
      '[]',
      '{}',
      '{"queue_id":7}',
      'Mail queue is empty',
      '{"queue_id',
    ]) {
      expect(readQueueLine(text)).toBeUndefined()
    }
  })

  it('returns messages with unchanged texts and a status for each Postfix queue', () => {
    const line = {
      queue_name: 'deferred',
      queue_id: '4jRsrS402Bz2R6ll',
      arrival_time: 1_794_703_896,
      message_size: 442,
      forced_expire: false,
      sender: '"a b"@acme.test',
      recipients: [
        { address: 'x@y.test', delay_reason: 'said: "451\n{}"' },
        { address: 'z@y.test' },
      ],
    }
    expect(readQueueLine(JSON.stringify(line))).toEqual({
      queue_id: '4jRsrS402Bz2R6ll',
      status: 'deferred',
      sender: '"a b"@acme.test',
      recipients: [
        { address: 'x@y.test', reason: 'said: "451\n{}"' },
        { address: 'z@y.test', reason: null },
      ],
      size: 442,
      arrived: new Date(1_794_703_896_000),
    })
    const of = (queue_name: string) =>
      readQueueLine(JSON.stringify({ ...line, queue_name }))?.status
    expect(['active', 'incoming', 'maildrop', 'hold'].map(of)).toEqual([
      'active',
      'active',
      'active',
      'hold',
    ])
  })
})
