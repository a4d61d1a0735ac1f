import { expect, it, vi } from 'vitest'
import { startSwallowingSmtp } from '../../test/support/swallowing-servers.ts'
import { converse } from './smtp-conversation.ts'

it('runs other work between the blocks of a large message', async () => {
  const sink = await startSwallowingSmtp()
  const smtp = converse('127.0.0.1', sink.port, 60_000)
  await smtp.expect('220')
  await smtp.expect('354', 'DATA')
  const content = Buffer.from('A line.\r\n'.repeat(500_000))
  let inThisTurn = 0
  let most = 0
  const original = content.toString.bind(content)
  vi.spyOn(content, 'toString').mockImplementation((...block) => {
    inThisTurn++
    return original(...block)
  })
  const count = () => {
    most = Math.max(most, inThisTurn)
    inThisTurn = 0
    turn = setImmediate(count)
  }
  let turn = setImmediate(count)
  expect(await smtp.data(content)).toMatch(/^250 /)
  clearImmediate(turn)
  smtp.end()
  await sink.stop()
  expect(most).toBeLessThanOrEqual(2)
  expect(sink.sizes).toEqual([content.length + '.\r\n'.length])
})
