/**
 * By Latin letter, what looks like it in its capital or small form, of the scripts that token symbols were forged with
 * (after Unicode's confusables, cut down to those; what is only a variant, such as fullwidth or mathematical letters,
 * falls together by normalisation). Where capital and small form look like different letters the capital counts, as
 * symbols are written in capitals.
 */
const FORGERIES: Readonly<Record<string, string>> = {
  a: 'АΑɑᴀᎪꓮⲀ',
  b: 'ВЬΒƅɓʙᏴꓐⲂ',
  c: 'СᴄᏟꓚⲤ',
  d: 'ԀđðɗᴅᎠᏧꓓ',
  e: 'ЕΕᴇᎬꓰⲈ',
  f: 'ҒϜƒֆꓝ',
  g: 'ԌɡɠɢցᏀꓖ',
  h: 'НҺΗħʜհᎻᏂꓧⲎ',
  i: 'ІΙıɩɪᎥꓲⲒ',
  j: 'ЈͿᴊյᎫꓙ',
  k: 'КҜΚƙᴋᏦꓗⲔ',
  l: 'ӀłʟԼᏞꓡ',
  m: 'МΜᴍᎷꓟⲘ',
  n: 'ΝɴոꓠⲚ',
  o: '0ОΟøᴏՕ〇০߀ⵔꓳⲞ',
  p: 'РΡƥᴘᏢꓑⲢ',
  q: 'Ԛզ',
  r: 'ʀᎡᏒꓣ',
  s: 'ЅꙄꜱՏᏕᏚꓢ',
  t: 'ТΤŧƭᴛᎢꓔⲦ',
  u: 'ՍᴜꓴԱ',
  v: 'ѴʋᴠᏙꓦ',
  w: 'ԜѠωᴡᎳᏔꓪ',
  x: 'ХΧꓫⲬ',
  y: 'УҮΥγƴʏᎽꓬⲨ',
  z: 'ΖƶᴢᏃꓜⲌ',
}

/** From a small letter, whatever its script, to the small Latin one that it looks like. */
export const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries(FORGERIES).flatMap(([latin, forgeries]) =>
    [...forgeries].map((forgery): [string, string] => [forgery.toLowerCase(), latin]),
  ),
)
