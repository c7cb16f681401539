// EXPECT_ERROR(code, "words in the message", expression): the failure has the right code and names what it should.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hearth/error.h"

#define EXPECT_ERROR(wanted, words, expression)                                              \
  try {                                                                                      \
    (void)(expression);                                                                      \
    ADD_FAILURE() << "no error, wanted: " << (words);                                        \
  } catch (const ::hearth::Error& error) {                                                   \
    EXPECT_EQ(::hearth::to_string(error.code), ::hearth::to_string(wanted)) << error.what(); \
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();     \
  }
