# Which libraries are linked as archives. A shared library costs every process its pages and its
# relocations, and libcurl's brings thirty more that nothing here uses; what is linked from an archive
# costs what is called. -DKUBEWATCH_ARCHIVES=OFF takes the shared ones.
#
# Shared on purpose: libc, libstdc++ (others below use it), and what Debian ships no archive of:
# fmt, spdlog, simdjson, prometheus-cpp, libjq with oniguruma.
option(KUBEWATCH_ARCHIVES "link archives of libraries where the system has them" ON)

# kw_archive(NAME FILE SHARED...): the target kubewatch_with_NAME is libFILE.a, or else what is named.
function(kw_archive name file)
  add_library(kubewatch_with_${name} INTERFACE)
  if(KUBEWATCH_ARCHIVES)
    find_library(KUBEWATCH_ARCHIVE_${name} lib${file}.a)
    mark_as_advanced(KUBEWATCH_ARCHIVE_${name})
  endif()
  if(KUBEWATCH_ARCHIVE_${name} AND KUBEWATCH_ARCHIVES)
    add_library(kubewatch_archive_${name} STATIC IMPORTED GLOBAL)
    set_target_properties(kubewatch_archive_${name} PROPERTIES
      IMPORTED_LOCATION ${KUBEWATCH_ARCHIVE_${name}})
    target_link_libraries(kubewatch_with_${name} INTERFACE kubewatch_archive_${name})
  else()
    target_link_libraries(kubewatch_with_${name} INTERFACE ${ARGN})
  endif()
endfunction()

# The target kubewatch_with_curl: libcurl.a with lib/http/curl_left_out.c where these two and OpenSSL,
# zlib and zstd are all that a program needs; the shared libcurl where a newer archive needs more.
function(kw_curl)
  add_library(kubewatch_with_curl INTERFACE)
  set(left_out ${PROJECT_SOURCE_DIR}/lib/http/curl_left_out.c)
  if(KUBEWATCH_ARCHIVES)
    find_library(KUBEWATCH_ARCHIVE_curl libcurl.a)
    mark_as_advanced(KUBEWATCH_ARCHIVE_curl)
  endif()
  if(KUBEWATCH_ARCHIVES AND KUBEWATCH_ARCHIVE_curl)
    set(archives ${KUBEWATCH_ARCHIVE_curl} ${OPENSSL_SSL_LIBRARY} ${OPENSSL_CRYPTO_LIBRARY}
        ${ZLIB_LIBRARIES} ${KUBEWATCH_ARCHIVE_zstd})
    file(WRITE ${PROJECT_BINARY_DIR}/curl_archive/main.c
         "#include <curl/curl.h>\nint main(void) { return curl_easy_init() == 0; }\n")
    try_compile(KUBEWATCH_CURL_ARCHIVE_LINKS ${PROJECT_BINARY_DIR}/curl_archive
                SOURCES ${PROJECT_BINARY_DIR}/curl_archive/main.c ${left_out}
                LINK_LIBRARIES ${archives} Threads::Threads ${CMAKE_DL_LIBS}
                OUTPUT_VARIABLE output)
    file(WRITE ${PROJECT_BINARY_DIR}/curl_archive/output.txt "${output}")
    if(KUBEWATCH_CURL_ARCHIVE_LINKS)
      add_library(kubewatch_curl_left_out STATIC ${left_out})
      target_include_directories(kubewatch_with_curl INTERFACE ${CURL_INCLUDE_DIRS})
      # A target, and not a file, so that what it needs comes after it on every command line.
      add_library(kubewatch_archive_curl STATIC IMPORTED GLOBAL)
      set_target_properties(kubewatch_archive_curl PROPERTIES
        IMPORTED_LOCATION ${KUBEWATCH_ARCHIVE_curl})
      target_link_libraries(kubewatch_archive_curl INTERFACE
        kubewatch_curl_left_out kubewatch_with_zstd OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB)
      target_link_libraries(kubewatch_with_curl INTERFACE kubewatch_archive_curl)
      return()
    endif()
    message(STATUS "libcurl.a needs more than lib/http/curl_left_out.c has, so the shared libcurl is "
                   "linked (${PROJECT_BINARY_DIR}/curl_archive/output.txt has the symbols)")
  endif()
  target_link_libraries(kubewatch_with_curl INTERFACE CURL::libcurl)
endfunction()
