// What each thing that estimate_features.hpp counts is worth, for each vocabulary that was
// measured. Written by tests/tokens/calibrate_estimate.py, which says how; do not edit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokens/estimate_features.hpp"

namespace undertext {

enum class Vocabulary : std::uint8_t { o200k, cl100k, llama3, qwen, deepseek, gemini, claude_2 };
inline constexpr std::size_t vocabulary_count = 7;

inline constexpr std::int64_t weight_of_token = 1024;

// clang-format off
inline constexpr std::int16_t feature_weights[feature_count][vocabulary_count] = {
    {  952,   947,   922,   916,   953,   940,   940},  // word
    { -761,  -660,  -679,  -655,  -584,  -155,   -35},  // word_after_sign
    { -319,  -448,  -431,  -432,   -64,   180,     0},  // word_after_underscore
    { -649,  -644,  -622,  -458,  -486,  -280,  -139},  // word_after_line
    {  298,   257,   346,   333,   200,    96,   143},  // word_capital
    { -251,  -368,  -250,  -233,  -361,  -197,  -320},  // letter_alone
    {   49,    58,    59,    62,    68,    49,    70},  // letter_5
    {   24,    39,    60,    57,    42,    41,    30},  // letter_8
    {  530,   533,   455,   446,   465,   638,   622},  // hump
    {  162,   129,   122,   105,   228,   139,   142},  // capital
    {  970,  1051,  1061,   902,  1039,   774,   999},  // consonants
    {  789,   835,   791,   916,   879,   996,   955},  // number
    {    0,     0,     0,   711,     0,   606,     0},  // digit_2
    {  873,   877,   887,   886,   880,  1201,  1032},  // digit_group
    {  429,   473,   477,   634,   415,   444,   359},  // mixed
    { 1195,  1172,  1189,  1181,  1177,  1178,  1121},  // sign_run
    {  432,   317,   334,   327,   443,   143,   111},  // sign
    {   89,    33,    18,    29,    62,    10,    25},  // sign_again
    { 1704,  1774,  1775,  1873,  1446,  1817,   896},  // number_after_space
    {  452,   575,   574,   606,   364,   283,  -183},  // space_run
    {    0,     0,     0,     0,    13,    24,     6},  // space_long
    { 1514,  1268,  1289,  1142,  1263,  1508,  1031},  // line
    {-1008,  -844,  -879,  -775,  -765,   -82,    90},  // line_after_sign
    { -776,  -546,  -601,  -483,  -732,  -969,   315},  // line_again
    {  499,   532,   517,   518,   524,   204,   340},  // tab
    {    0,   681,     0,     0,   938,     0,  1671},  // latin
    {  446,  1496,     0,     0,   843,    82,  2101},  // latin_far
    {    0,   435,     0,     0,   192,     0,  1699},  // latin_tones
    { -113,   151,  -119,  -102,     9,  -129,   240},  // foreign_word
    {  190,   121,   260,   277,   133,   190,    72},  // foreign_letter
    {  762,   474,   769,   882,  1016,   733,   891},  // latin_sign
    { 3116,  3144,  2977,  3060,  2476,  2233,  3416},  // combining
    {  471,  1091,   366,   952,   635,   449,  1343},  // greek
    { -400,  -111,   293,   377,  -607,  -211,    16},  // greek_run
    {  133,   351,   262,   289,   213,   138,   468},  // cyrillic
    {  774,   772,   339,   314,   570,   689,   650},  // cyrillic_run
    {  360,  2020,  2167,  1015,   852,   342,   863},  // caucasian
    {  -60,   951,  -120,   820,  -264,   744,  3777},  // caucasian_run
    { 2258,  3019,  3019,  1598,  2375,   762,  3241},  // ethiopic
    {  444,  1085,  1197,   392,   675,   496,   654},  // hebrew
    {    3,   464,   -39,   201,  -539,   117,  1856},  // hebrew_run
    {  274,   724,   672,     0,   373,   445,   705},  // arabic
    {  368,   614, -1155,  2387,   286,  -361,  2028},  // arabic_run
    {  449,  1081,   512,   979,   686,   265,  1407},  // devanagari
    { -280,   666,   482,   697,     2,   181,  -135},  // devanagari_run
    {  301,  2057,  2075,  1605,  1161,   360,  2657},  // indic
    {  580, -2510, -2692, -1545, -3504,  -370, -2429},  // indic_run
    {  404,   920,   471,   567,   352,   312,  1803},  // thai
    { -243,   508,   355,   251,   238,  -283,    29},  // thai_run
    {  498,  1819,  1797,  1359,   805,   338,   247},  // southeast
    {  381,  -296,    71,  -588,  2087,   963, 12542},  // southeast_run
    {  497,   791,   599,   667,   705,   477,  1151},  // hangul
    {  583,   948,   427,   487,   320,   461,   521},  // hangul_run
    {  620,  1069,   486,   268,   349,   225,   808},  // hiragana
    {  160,  -506,    43,   296,   319,   322,   182},  // hiragana_run
    {  597,   968,   537,   515,   495,   250,   926},  // katakana
    {  403,   383,   841,   920,  1298,   813,  1067},  // katakana_run
    {  717,   962,   745,   560,   513,   592,   867},  // han
    {  -14,   554,   235,   767,   355,    -3,    85},  // han_run
    { 2931,  4312,  2229,  1845,  1839,  1443,  4667},  // han_uncommon
    { 4129,  4023,  3930,  3365,  4039,  4555,  3539},  // han_rare
    {  713,   318,   544,   509,   638,   979,   750},  // east_sign
    {  399,   896,   552,  1219,  1110,   431,  1097},  // general_sign
    { 1742,  1899,  1867,  1892,  1656,  1261,  2538},  // symbol
    { 2431,  2590,  2832,  2079,  2698,  2501,  2983},  // symbol_again
    { 2062,  3040,  2984,  2142,  2113,  1367,  3012},  // emoji
    { 4469,  3845,  3718,  3322,  3428,  4873,  1903},  // other
    {    0,     0,     0,     0,     0,     0,     0},  // invalid
};
// clang-format on

}  // namespace undertext
