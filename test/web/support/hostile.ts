/** Names that would run as markup or script, or change the text around them. */
export const HOSTILE = [
  '<img src=x onerror="window.hacked=1">',
  '<script>window.hacked=1</script>',
  '"><svg onload=window.hacked=1>',
  '{{constructor.constructor("window.hacked=1")()}}',
  'photo\u202egnp.exe',
  'a'.repeat(250),
]
