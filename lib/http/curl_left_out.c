/* What the archive of libcurl refers to and this binary never uses: other protocols, Kerberos, HTTP/2,
 * cookies, international host names. With these the archive is linked without the thirty libraries
 * behind them, which cost every process 4 ms at its start and 4 MB while it runs. It is not a fake of
 * them: http/curl_transfer allows http and https at HTTP/1.1 with basic or no authentication to a
 * proxy and asks for gzip only, so nothing here is reached but what answers "not available"; anything
 * else ends the process with its name. cmake/KubewatchArchives.cmake tries whether the list is whole
 * and takes the shared libcurl where it is not. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn static void left_out(const char* name) {
  fprintf(stderr, "kubewatch: a bug: libcurl called %s, which this build leaves out\n", name);
  abort();
}

#define LEFT_OUT(name) \
  _Noreturn void name(void); \
  void name(void) { left_out(#name); }

/* Reached. libcurl starts libssh2 with itself. */
int libssh2_init(int flags);
int libssh2_init(int flags) {
  (void)flags;
  return 0;
}
void libssh2_exit(void);
void libssh2_exit(void) {}

/* A host name that is not ASCII is refused (IDN2_MALLOC, for want of "not available"). */
const char* idn2_check_version(const char* wanted);
const char* idn2_check_version(const char* wanted) {
  (void)wanted;
  return NULL;
}
int idn2_lookup_ul(const char* name, char** result, int flags);
int idn2_lookup_ul(const char* name, char** result, int flags) {
  (void)name, (void)result, (void)flags;
  return -100;
}
void idn2_free(void* pointer);
void idn2_free(void* pointer) { (void)pointer; }

/* A server may answer in brotli although nobody asked: a decoder that takes nothing, as if the bytes
 * were broken (BROTLI_DECODER_RESULT_ERROR and the first of its format errors). */
static char no_decoder;
void* BrotliDecoderCreateInstance(void* allocate, void* release, void* opaque);
void* BrotliDecoderCreateInstance(void* allocate, void* release, void* opaque) {
  (void)allocate, (void)release, (void)opaque;
  return &no_decoder;
}
void BrotliDecoderDestroyInstance(void* decoder);
void BrotliDecoderDestroyInstance(void* decoder) { (void)decoder; }
int BrotliDecoderDecompressStream(void* decoder);
int BrotliDecoderDecompressStream(void* decoder) {
  (void)decoder;
  return 0;
}
int BrotliDecoderGetErrorCode(const void* decoder);
int BrotliDecoderGetErrorCode(const void* decoder) {
  (void)decoder;
  return -1;
}

/* Data. */
extern void* GSS_C_NT_HOSTBASED_SERVICE;
void* GSS_C_NT_HOSTBASED_SERVICE = NULL;

/* SCP and SFTP. */
LEFT_OUT(libssh2_agent_connect)
LEFT_OUT(libssh2_agent_disconnect)
LEFT_OUT(libssh2_agent_free)
LEFT_OUT(libssh2_agent_get_identity)
LEFT_OUT(libssh2_agent_init)
LEFT_OUT(libssh2_agent_list_identities)
LEFT_OUT(libssh2_agent_userauth)
LEFT_OUT(libssh2_channel_free)
LEFT_OUT(libssh2_channel_read_ex)
LEFT_OUT(libssh2_channel_send_eof)
LEFT_OUT(libssh2_channel_wait_closed)
LEFT_OUT(libssh2_channel_wait_eof)
LEFT_OUT(libssh2_channel_write_ex)
LEFT_OUT(libssh2_hostkey_hash)
LEFT_OUT(libssh2_knownhost_add)
LEFT_OUT(libssh2_knownhost_checkp)
LEFT_OUT(libssh2_knownhost_del)
LEFT_OUT(libssh2_knownhost_free)
LEFT_OUT(libssh2_knownhost_get)
LEFT_OUT(libssh2_knownhost_init)
LEFT_OUT(libssh2_knownhost_readfile)
LEFT_OUT(libssh2_knownhost_writefile)
LEFT_OUT(libssh2_scp_recv2)
LEFT_OUT(libssh2_scp_send64)
LEFT_OUT(libssh2_session_abstract)
LEFT_OUT(libssh2_session_block_directions)
LEFT_OUT(libssh2_session_callback_set)
LEFT_OUT(libssh2_session_disconnect_ex)
LEFT_OUT(libssh2_session_flag)
LEFT_OUT(libssh2_session_free)
LEFT_OUT(libssh2_session_handshake)
LEFT_OUT(libssh2_session_hostkey)
LEFT_OUT(libssh2_session_init_ex)
LEFT_OUT(libssh2_session_last_errno)
LEFT_OUT(libssh2_session_last_error)
LEFT_OUT(libssh2_session_method_pref)
LEFT_OUT(libssh2_session_set_blocking)
LEFT_OUT(libssh2_sftp_close_handle)
LEFT_OUT(libssh2_sftp_init)
LEFT_OUT(libssh2_sftp_last_error)
LEFT_OUT(libssh2_sftp_mkdir_ex)
LEFT_OUT(libssh2_sftp_open_ex)
LEFT_OUT(libssh2_sftp_read)
LEFT_OUT(libssh2_sftp_readdir_ex)
LEFT_OUT(libssh2_sftp_rename_ex)
LEFT_OUT(libssh2_sftp_rmdir_ex)
LEFT_OUT(libssh2_sftp_seek64)
LEFT_OUT(libssh2_sftp_shutdown)
LEFT_OUT(libssh2_sftp_stat_ex)
LEFT_OUT(libssh2_sftp_statvfs)
LEFT_OUT(libssh2_sftp_symlink_ex)
LEFT_OUT(libssh2_sftp_unlink_ex)
LEFT_OUT(libssh2_sftp_write)
LEFT_OUT(libssh2_userauth_authenticated)
LEFT_OUT(libssh2_userauth_keyboard_interactive_ex)
LEFT_OUT(libssh2_userauth_list)
LEFT_OUT(libssh2_userauth_password_ex)
LEFT_OUT(libssh2_userauth_publickey_fromfile_ex)
LEFT_OUT(libssh2_version)

/* LDAP. */
LEFT_OUT(ber_bvfree)
LEFT_OUT(ber_free)
LEFT_OUT(ber_memfree)
LEFT_OUT(ber_memvfree)
LEFT_OUT(ber_sockbuf_add_io)
LEFT_OUT(ldap_abandon_ext)
LEFT_OUT(ldap_err2string)
LEFT_OUT(ldap_free_urldesc)
LEFT_OUT(ldap_get_attribute_ber)
LEFT_OUT(ldap_get_dn_ber)
LEFT_OUT(ldap_get_option)
LEFT_OUT(ldap_init_fd)
LEFT_OUT(ldap_memfree)
LEFT_OUT(ldap_msgfree)
LEFT_OUT(ldap_msgtype)
LEFT_OUT(ldap_parse_result)
LEFT_OUT(ldap_parse_sasl_bind_result)
LEFT_OUT(ldap_pvt_url_scheme2proto)
LEFT_OUT(ldap_result)
LEFT_OUT(ldap_sasl_bind)
LEFT_OUT(ldap_search_ext)
LEFT_OUT(ldap_set_option)
LEFT_OUT(ldap_start_tls)
LEFT_OUT(ldap_unbind_ext)
LEFT_OUT(ldap_url_parse)

/* RTMP. */
LEFT_OUT(RTMP_Alloc)
LEFT_OUT(RTMP_Close)
LEFT_OUT(RTMP_Connect1)
LEFT_OUT(RTMP_ConnectStream)
LEFT_OUT(RTMP_Free)
LEFT_OUT(RTMP_Init)
LEFT_OUT(RTMP_Read)
LEFT_OUT(RTMP_SetBufferMS)
LEFT_OUT(RTMP_SetupURL)
LEFT_OUT(RTMP_Write)

/* Kerberos, for proxies and SOCKS. */
LEFT_OUT(gss_delete_sec_context)
LEFT_OUT(gss_display_name)
LEFT_OUT(gss_display_status)
LEFT_OUT(gss_import_name)
LEFT_OUT(gss_init_sec_context)
LEFT_OUT(gss_inquire_context)
LEFT_OUT(gss_release_buffer)
LEFT_OUT(gss_release_name)
LEFT_OUT(gss_unwrap)
LEFT_OUT(gss_wrap)

/* HTTP/2. */
LEFT_OUT(nghttp2_http2_strerror)
LEFT_OUT(nghttp2_is_fatal)
LEFT_OUT(nghttp2_option_del)
LEFT_OUT(nghttp2_option_new)
LEFT_OUT(nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation)
LEFT_OUT(nghttp2_pack_settings_payload)
LEFT_OUT(nghttp2_priority_spec_init)
LEFT_OUT(nghttp2_session_callbacks_del)
LEFT_OUT(nghttp2_session_callbacks_new)
LEFT_OUT(nghttp2_session_callbacks_set_error_callback)
LEFT_OUT(nghttp2_session_callbacks_set_on_begin_headers_callback)
LEFT_OUT(nghttp2_session_callbacks_set_on_data_chunk_recv_callback)
LEFT_OUT(nghttp2_session_callbacks_set_on_frame_recv_callback)
LEFT_OUT(nghttp2_session_callbacks_set_on_header_callback)
LEFT_OUT(nghttp2_session_callbacks_set_on_stream_close_callback)
LEFT_OUT(nghttp2_session_callbacks_set_send_callback)
LEFT_OUT(nghttp2_session_check_request_allowed)
LEFT_OUT(nghttp2_session_client_new2)
LEFT_OUT(nghttp2_session_del)
LEFT_OUT(nghttp2_session_get_remote_settings)
LEFT_OUT(nghttp2_session_get_remote_window_size)
LEFT_OUT(nghttp2_session_get_stream_remote_window_size)
LEFT_OUT(nghttp2_session_get_stream_user_data)
LEFT_OUT(nghttp2_session_mem_recv)
LEFT_OUT(nghttp2_session_resume_data)
LEFT_OUT(nghttp2_session_send)
LEFT_OUT(nghttp2_session_set_local_window_size)
LEFT_OUT(nghttp2_session_set_stream_user_data)
LEFT_OUT(nghttp2_session_upgrade2)
LEFT_OUT(nghttp2_session_want_read)
LEFT_OUT(nghttp2_session_want_write)
LEFT_OUT(nghttp2_strerror)
LEFT_OUT(nghttp2_submit_ping)
LEFT_OUT(nghttp2_submit_priority)
LEFT_OUT(nghttp2_submit_request)
LEFT_OUT(nghttp2_submit_rst_stream)
LEFT_OUT(nghttp2_submit_settings)
LEFT_OUT(nghttp2_version)

/* cookies. */
LEFT_OUT(psl_builtin)
LEFT_OUT(psl_free)
LEFT_OUT(psl_get_version)
LEFT_OUT(psl_is_cookie_domain_acceptable)
LEFT_OUT(psl_latest)

/* brotli. */
LEFT_OUT(BrotliDecoderVersion)
